"""tools/download_data.py: a set is written whole and right, or not at all, and the errors say what to do."""

import threading
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import datasets
import download_data
import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_matrix

ROWS = np.array([[1.0, 0.1], [-2.5, 1e-7], [0.0, 3.0]])
CLASSES = ["a", "b", "a"]
COMMIT = "c0ffee"


def entry(how, file, rows, target, paths=("x.txt",), **more):
    said = {"how": how, "file": file, "repo": "some/repo", "commit": COMMIT, "paths": list(paths), "origin": "a book"}
    return said | {"sha256": download_data.checksum(rows, target), "verified": False, "note": "do this"} | more


def write_table(folder, **sets):
    """Write a table of sources as data_sources.toml is; repr of these strings, lists and numbers is TOML."""
    lines = []
    for name, source in sets.items():
        lines.append(f"[{name}]")
        for key, value in source.items():
            inner = isinstance(value, dict) and "{" + ", ".join(f"{k!r} = {v!r}" for k, v in value.items()) + "}"
            lines.append(f"{key} = {inner or (str(value).lower() if isinstance(value, bool) else repr(value))}")
    file = folder / "sources.toml"
    file.write_text("\n".join(lines))
    return file


@pytest.fixture
def place(tmp_path):
    """A folder of sources with one set, `toy`, and the arguments that fetch into `to`."""

    class Place:
        mirror, to = tmp_path / "mirror", tmp_path / "to"

        def put(self, path, text):
            file = self.mirror / "some/repo" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())

        def run(self, *arguments, where=None, **sets):
            table = write_table(tmp_path, **(sets or {"toy": self.toy}))
            return download_data.main([*arguments, "--to", str(self.to), "--from", str(where or self.mirror)], table)

    made = Place()
    made.toy = entry("table", "toy.csv", ROWS, CLASSES, separator=",")
    made.put("x.txt", "1,0.1,a\r\n-2.50,1e-7,b\n0,3,a\n")
    return made


def test_a_set_is_fetched_converted_and_read_back(place, capsys):
    assert place.run() == 0
    rows, target = datasets.load("toy", place.to)
    np.testing.assert_array_equal(rows, ROWS)
    assert list(target) == CLASSES
    assert [f.name for f in place.to.iterdir()] == ["toy.csv"]
    assert "[1/1] toy: written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (
            "u v Class\n1 .1 -1\n-2.5 1e-7 1\n\n0 3 -1",
            {"how": "table", "header": True, "relabel": {"-1": "a", "1": "b"}},
        ),
        (
            "% a comment\n@relation r\n@ATTRIBUTE 'u v' numeric\n@attribute w real\n@attribute c {a, b}\n@DATA\n"
            "% another\n1,0.1,a\n-2.5,1e-7, b\n0,3,a\n",
            {"how": "arff"},
        ),
    ],
)
def test_dense_forms_give_the_same_content(place, text, source):
    place.put("x.txt", text)
    assert place.run(toy=entry(source.pop("how"), "toy.csv.gz", ROWS, CLASSES, **source)) == 0
    np.testing.assert_array_equal(datasets.load("toy", place.to)[0], ROWS)


def test_a_regression_in_libsvm_form(place):
    place.put("x.txt", "7.5 1:1 2:0.1\n8 1:-2.5 2:1e-7\n9 2:3\n")
    numbers = np.array([7.5, 8, 9])
    # datasets.py knows regressions by their names.
    assert place.run(eunite=entry("libsvm", "eunite.csv", ROWS, numbers, columns=2)) == 0
    np.testing.assert_array_equal(datasets.load("eunite", place.to)[1], numbers)


def test_texts_in_cluto_form(place):
    place.put("x.txt", "3 4\n2 0 1 3 7 \n0 \n1 2 5 \n")
    place.put("y.txt", "1 0 0 \n0 1 1 \n")
    rows = csr_matrix([[1, 0, 0, 7], [0, 0, 0, 0], [0, 0, 5, 0]], dtype=float)
    source = entry("cluto", "toy.npz", rows, ["0", "1", "1"], ["x.txt", "y.txt"])
    assert place.run(toy=source) == 0
    found, target = datasets.load("toy", place.to)
    np.testing.assert_array_equal(found.toarray(), rows.toarray())
    assert list(target) == ["0", "1", "1"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_matlab_file_is_read_by_the_shapes_of_its_arrays(place, turned):
    rows = np.array([[0.125, -1.0], [0.5, 1.0], [0.25, 0.0]])
    place.put("x.txt", "")
    savemat(
        place.mirror / "some/repo/x.txt", {"gnd": [[1], [3], [2]], "fea": rows.T if turned else rows}, appendmat=False
    )
    source = entry("mat", "toy.csv", rows, ["0", "2", "1"], shape=[3, 2], decimals=3)
    assert place.run(toy=source) == 0


def test_another_content_is_refused_and_nothing_is_left(place, capsys):
    place.put("x.txt", "1,0.1,a\n-2.5,1e-7,b\n0,4,a\n")
    assert place.run("toy") == 1
    said = capsys.readouterr().err
    assert f"expected {place.toy['sha256']}; nothing was written" in said
    assert "hint: this source was never tried whole; compare with a book" in said
    assert list(place.to.iterdir()) == []


@pytest.mark.parametrize("text", ["", "<html>gone</html>", "1,0.1,a\n2,b\n"])
def test_a_source_of_another_form_is_an_error_and_nothing_is_left(place, capsys, text):
    place.put("x.txt", text)
    assert place.run("toy") == 1
    assert "x.txt of some/repo" in capsys.readouterr().err
    assert not place.to.exists() or list(place.to.iterdir()) == []


def test_what_is_there_and_right_is_not_fetched_again(place, capsys):
    assert place.run() == 0
    assert place.run(where=place.mirror / "nowhere") == 0
    assert "[1/1] toy: right" in capsys.readouterr().err


def test_one_failure_does_not_stop_the_others_and_the_next_run_goes_on(place, capsys):
    sets = {"lost": place.toy | {"file": "lost.csv", "paths": ["lost.txt"]}, "toy": place.toy}
    assert place.run(**sets) == 1
    said = capsys.readouterr().err
    assert "lost.txt is not there" in said
    assert "1 of 2 sets could not be had" in said
    place.put("lost.txt", "1,0.1,a\n-2.5,1e-7,b\n0,3,a\n")
    assert place.run(**sets) == 0


def test_a_file_of_somebody_else_is_left_as_it_is(place, capsys):
    place.to.mkdir()
    (place.to / "toy.csv").write_text("u,target\n1,a\n")
    assert place.run() == 1
    assert "hint: it is left as it is" in capsys.readouterr().err
    assert (place.to / "toy.csv").read_text() == "u,target\n1,a\n"


def test_a_folder_that_cannot_be_written_is_an_error_and_no_traceback(place, capsys):
    place.to.write_text("a file, not a folder")
    assert place.run() == 1
    assert "File exists" in capsys.readouterr().err


def test_a_set_made_by_hand_says_how_and_fails_only_if_it_is_asked_for(place, capsys):
    sets = {"toy": place.toy, "hand": place.toy | {"file": "hand.csv", "how": "by hand"}}
    assert place.run(**sets) == 0
    assert "hand cannot be fetched\n    hint: do this" in capsys.readouterr().err
    assert place.run("hand", **sets) == 1


def test_an_unknown_name_is_told_the_known_ones(place, capsys):
    with pytest.raises(SystemExit):
        place.run("iris")
    assert "'iris' is no set; there are toy" in capsys.readouterr().err


def test_check_tells_right_wrong_and_missing(place, capsys):
    sets = {"toy": place.toy, "lost": place.toy | {"file": "lost.csv"}}
    place.run("toy", **sets)
    assert place.run("--check", str(place.to), **sets) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["toy", "right"],
        ["lost", "missing"],
    ]
    assert place.run("lost", "--check", str(place.to), **sets) == 1
    (place.to / "toy.csv").write_text("u,target\n1,a\n")
    assert place.run("--check", str(place.to), **sets) == 1
    assert f"expected {place.toy['sha256']}" in capsys.readouterr().out
    (place.to / "toy.csv").write_bytes(b"\xff\xfe\x00")
    assert place.run("--check", str(place.to), **sets) == 1
    assert "cannot be read" in capsys.readouterr().out


@pytest.fixture
def server(place):
    """The mirror as an address: some/repo/COMMIT/path."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def translate_path(self, path):
            return super().translate_path(path.replace(f"/{COMMIT}", ""))

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=place.mirror)) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def test_an_address_serves_as_well_as_a_folder(place, server):
    assert place.run(where=server) == 0


def test_a_source_that_is_gone_gives_its_address_and_a_way_out(place, server, capsys):
    assert place.run(where=server, toy=place.toy | {"paths": ["gone.txt"]}) == 1
    said = capsys.readouterr().err
    assert f"{server}/some/repo/{COMMIT}/gone.txt answers 404" in said
    assert "put it at DIR/some/repo/gone.txt and run this again with --from DIR" in said
    assert not place.to.exists()


def test_no_network_is_told_as_such(place, capsys):
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as http:
        port = http.server_port
    assert place.run(where=f"http://127.0.0.1:{port}") == 1
    assert "cannot be reached" in capsys.readouterr().err


def test_the_checksum_is_of_the_content_and_of_all_of_it():
    one = download_data.checksum(ROWS, CLASSES)
    assert download_data.checksum(np.asfortranarray(ROWS + -0.0), np.array(CLASSES)) == one
    sparse = csr_matrix(ROWS)
    shuffled = csr_matrix((sparse.data[[1, 0, 2, 3, 4]], sparse.indices[[1, 0, 2, 3, 4]], sparse.indptr), ROWS.shape)
    assert download_data.checksum(shuffled, CLASSES) == download_data.checksum(sparse, CLASSES)
    others = [
        (ROWS.T, CLASSES),
        (np.nextafter(ROWS, 9), CLASSES),
        (ROWS, ["a", "b", "b"]),
        (ROWS, np.ones(3)),
        (sparse, CLASSES),
    ]
    assert len({one, *(download_data.checksum(*other) for other in others)}) == 6


def test_the_table_names_every_set_once_and_knows_how(capsys):
    table = tomllib.loads(download_data.TABLE.read_text())
    assert set(datasets.DENSE + datasets.TEXTS) <= set(table)
    for name, source in table.items():
        assert source["file"].split(".")[0] == name
        assert source["how"] in {*download_data.CONVERTERS, download_data.BY_HAND}
        assert len(source["sha256"]) == 64
        assert not (source["verified"] and source["how"] == download_data.BY_HAND)
        assert source["note"] or source["verified"]
    assert download_data.main(["--list"]) == 0
    assert "verified" in capsys.readouterr().out


def test_the_data_that_are_here_are_those_of_the_table():
    if not (datasets.FOLDER / "pima.csv").exists():
        pytest.skip(f"no data sets in {datasets.FOLDER}")
    assert download_data.main(["pima", "sonar", "tr23", "--check"]) == 0
