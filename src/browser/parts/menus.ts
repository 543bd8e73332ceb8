/**
 * The menus of the header close as those of a desktop do, and so do the questions that cover the rows below them. Without scripts,
 * their button closes them.
 */
export function enableMenus(): void {
  const openMenu = () => document.querySelector<HTMLDetailsElement>(".menu[open], .table .confirm[open]");
  const closeUnlessIn = (target: EventTarget | null) => {
    const menu = openMenu();
    if (menu !== null && target instanceof Node && !menu.contains(target)) menu.open = false;
  };
  document.addEventListener("click", ({ target }) => closeUnlessIn(target));
  document.addEventListener("focusin", ({ target }) => closeUnlessIn(target));
  document.addEventListener("keydown", ({ key }) => {
    const menu = openMenu();
    if (key !== "Escape" || menu === null) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}
