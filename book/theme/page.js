// Makes boxes that scroll sideways reachable by keyboard. Other boxes are no tab stops.
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
