// What scrolls sideways can be reached by keyboard, and what doesn't is no stop on the way.
(() => {
  const update = () => {
    for (const box of document.querySelectorAll("main pre > code, main .table-wrapper, main math[display=block]")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", update);
  addEventListener("resize", update);
})();
