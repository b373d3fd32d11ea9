"""The results of a test, fact by fact."""
failures = []


def fact(holds, what):
    print(f"{'ok    ' if holds else 'FAILED'} {what}", flush=True)
    if not holds:
        failures.append(what)
