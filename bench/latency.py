"""One row at a time: `transform` of a fitted basis beside `Nystroem`'s, in milliseconds of processor time.

A service that answers one request after the other pays for whatever a call prepares. With one row the work is to read
the matrix once, so that time beyond the peer's is overhead. `goal` is the ratio that must not be exceeded.
"""

import os

from basis import GAMMA, basis, ringnorm
from measure import arguments, keep, side_by_side
from sklearn.kernel_approximation import Nystroem

GOAL = 1.2


def report(title: str, own: dict, peer: dict, figures: list) -> None:
    """Print milliseconds of all processors and by the clock, and the ratios: below 1 is faster than the peer."""
    ratio, clock = own["processor"] / peer["processor"], own["median"] / peer["median"]
    sides = {"processor": (own["processor"], peer["processor"]), "clock": (own["median"], peer["median"])}
    texts = [f"{name} {1e3 * ours:6.2f} ms, peer {1e3 * theirs:6.2f} ms" for name, (ours, theirs) in sides.items()]
    line = f"{title:<26} {texts[0]}  {ratio:5.2f}x (goal {GOAL})   {texts[1]}  {clock:5.2f}x"
    print(f"{line}   load {os.getloadavg()[0]:.1f}", flush=True)
    figures.append({"job": title, "own": own, "peer": peer, "ratio": ratio, "clock": clock, "load": os.getloadavg()[0]})


def main() -> None:
    given = arguments(__doc__)
    repeats = 1 if given.quick else 9
    figures: list = []
    x = ringnorm(500 if given.quick else 5_000)
    for m in (100,) if given.quick else (100, 500, 1_500):
        peer = Nystroem(gamma=GAMMA, n_components=m, random_state=0).fit(x)
        own = {method: basis(m, method).fit(x) for method in ("nystrom", "kobl")}
        for n in (1, 16):
            rows = ringnorm(n, seed=1)
            jobs = {"peer": lambda peer=peer, rows=rows: peer.transform(rows)}
            jobs |= {name: lambda one=one, rows=rows: one.transform(rows) for name, one in own.items()}
            times = side_by_side(jobs, repeats)
            for name in own:
                report(
                    f"{name}, m = {m}, {n} rows" if n > 1 else f"{name}, m = {m}, one row",
                    times[name],
                    times["peer"],
                    figures,
                )
    keep(figures, given.json)


if __name__ == "__main__":
    main()
