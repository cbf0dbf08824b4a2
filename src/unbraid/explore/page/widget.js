// The page in a notebook's cell: a frame of its own, which tells the notebook what is done in it.

function render({ model, el }) {
  const address = URL.createObjectURL(new Blob([model.get("page")], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "Explorer";
  frame.src = address;
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0; border-radius: 8px;`;
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || !data?.explorer) return;
    model.set("codes", data.explorer.codes);
    model.set("names", data.explorer.names);
    model.save_changes();
  };
  addEventListener("message", hear);
  el.append(frame);
  return () => {
    removeEventListener("message", hear);
    URL.revokeObjectURL(address);
  };
}

export default { render };
