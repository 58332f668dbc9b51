"""
Circles: a kernel sees what a line cannot
=========================================

x
"""
from mercer import KPCA
print(KPCA)
