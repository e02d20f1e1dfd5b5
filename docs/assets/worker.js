// SPDX-License-Identifier: BSD-3-Clause
// Search runs in a worker, which browsers refuse to pages that are opened from disk. There, run it in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = new Promise((done) => {
        const script = this.inner.document.createElement("script");
        script.src = url;
        script.onload = done;
        this.inner.document.body.append(script);
      });
    }

    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
