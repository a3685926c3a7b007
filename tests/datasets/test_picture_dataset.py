"""Pictures on disk."""

import base64

from matplotlib.figure import Figure

from figure_kedro.datasets.picture_dataset import PictureDataset


def figure():
    drawn = Figure(figsize=(2, 1))
    drawn.text(0.5, 0.5, "words")
    return drawn


def test_a_picture_is_kept_in_every_format_that_is_asked_for_and_always_as_png(tmp_path):
    dataset = PictureDataset(filepath=str(tmp_path / "new" / "tsne.png"), formats=["pdf", "svg"])
    assert not dataset.exists()
    dataset.save(figure())
    assert dataset.exists()
    assert {file.name for file in (tmp_path / "new").glob("[!.]*")} == {"tsne.png", "tsne.pdf", "tsne.svg"}
    assert (tmp_path / "new" / "tsne.pdf").read_bytes().startswith(b"%PDF")
    assert ">words<" in (tmp_path / "new" / "tsne.svg").read_text(), "text stays text"


def test_what_is_loaded_and_previewed_is_the_png(tmp_path):
    dataset = PictureDataset(filepath=str(tmp_path / "tsne.png"))
    dataset.save(figure())
    assert dataset.load().startswith(b"\x89PNG")
    assert base64.b64decode(dataset.preview()) == dataset.load()
    assert [file.name for file in tmp_path.glob("[!.]*")] == ["tsne.png"]


def test_equal_pictures_are_equal_files(tmp_path):
    for name in ("a", "b"):
        PictureDataset(filepath=str(tmp_path / f"{name}.png"), formats=["pdf"]).save(figure())
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
