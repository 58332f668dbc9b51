"""The tests of scikit-learn and scikit-rebate, run on mercer's classes in place of theirs.

Their tests are imported from the installed packages, and nothing of them is copied. `adapters` translates parameters
and names of attributes, and computes nothing; `differences` lists every test that does not pass, with the reason.
"""
