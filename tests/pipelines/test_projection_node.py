"""The node of projection, and its wiring."""

import numpy as np

from figure_kedro.pipelines.projection import create_pipeline, nodes
from figure_kedro.projections import MAPS


def test_one_scale_is_fitted_on_all_views(embeddings):
    fitted = nodes.fit_projection(embeddings, MAPS.parse({"map": "fourier", "dim": 8, "scale": "rms", "norm": 2.0}))
    assert (fitted.input_dim, fitted.output_dim) == (4, 8)
    spread = [np.sqrt(np.square(view - view.mean(axis=0)).sum(axis=1).mean()) for view in embeddings.values()]
    np.testing.assert_allclose(fitted.scaler.scale_, np.exp(np.mean(np.log(spread))) / 2.0, rtol=1e-5)


def test_the_identity_leaves_embeddings_as_they_are(embeddings):
    fitted = nodes.fit_projection(embeddings, MAPS.parse({}))
    np.testing.assert_array_equal(fitted.transform(embeddings["A"]), embeddings["A"])


def test_pipeline_reads_embeddings_and_no_graph():
    assert create_pipeline().inputs() == {"embeddings", "params:projection"}
