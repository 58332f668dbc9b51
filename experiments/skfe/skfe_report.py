def write(results, report):
    report.table("x", ["a"], [["b"]])
