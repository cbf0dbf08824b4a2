"""What leaves the run: ONNX graphs of every stage, and a page with sliders that needs nothing but a browser."""
