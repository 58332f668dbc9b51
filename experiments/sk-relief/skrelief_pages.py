def write(results, report):
    pass
