// Says in the lab that Python could not be fetched. The lab itself says nothing then: its cells wait
// for ever. tools/lite.py puts this file into the lab's page.
const SAYS = "Python could not be fetched: you are offline, or its server is blocked. No cell can run. "
  + "All results are stored and can be read here, or, with more comfort, in ";
const HOME = new URL("../../index.html", location.href); // now: the lab changes its own address

addEventListener("unhandledrejection", ({ reason }) => {
  const words = String(reason?.message ?? reason);
  if (!/pyodide|fetch|import/i.test(words) || document.querySelector("#lab-says")) return;
  const box = document.createElement("p"), link = document.createElement("a");
  box.id = "lab-says";
  box.setAttribute("role", "alert");
  box.style.cssText = "position: fixed; inset: auto 0 0 0; z-index: 99999; margin: 0; padding: 1em 2em; "
    + "background: #fff; color: #222; border-top: 4px solid #d55e00; font: 16px/1.5 sans-serif";
  link.href = HOME;
  link.textContent = "the pages of the course";
  box.append(SAYS, link, ".");
  document.body.append(box);
});
