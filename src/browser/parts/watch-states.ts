import { askServer, pollWhileVisible } from "./polling.ts";

/** The rows of a list with `data-watched` say whether their pushes were opened: the states follow without a reload. */
export function watchStates(): void {
  if (document.querySelector("[data-watched]") === null) return;
  pollWhileVisible(async () => {
    const response = await askServer(location.href);
    if (response === null) return false;
    if (response === undefined) return true;
    const other = new DOMParser().parseFromString(await response.text(), "text/html");
    const [rows, fresh] = [rowsOf(document), rowsOf(other)];
    // A list that has other rows now is shown at the next visit.
    if (rows.map(linkOf).join() !== fresh.map(linkOf).join()) return false;
    for (const [at, row] of rows.entries()) replaceState(row, fresh[at]);
    return false;
  });
}

const rowsOf = (page: Document) => [...page.querySelectorAll("[data-watched] tbody tr")];
const linkOf = (row: Element) => row.querySelector("a")?.getAttribute("href") ?? "";

/** The cell of the state, and that of the views before it. */
function replaceState(row: Element, fresh: Element | undefined): void {
  for (const [cell, other] of [
    [stateOf(row), fresh === undefined ? null : stateOf(fresh)],
    [stateOf(row)?.previousElementSibling, fresh === undefined ? null : stateOf(fresh)?.previousElementSibling],
  ]) {
    if (cell && other && cell.textContent !== other.textContent) cell.replaceChildren(...other.childNodes);
  }
}

const stateOf = (row: Element) => row.querySelector("td:has(> .badge)");
