/**
 * Moves the focus when its element is removed (a button that did its work, a card that was deleted): to the nearest
 * remaining ancestor. Browsers would leave it nowhere, and screen readers at the top of the page.
 */

/** @param root within which this holds @returns ends it */
export function keepFocusIn(root: HTMLElement): () => void {
  let around: HTMLElement[] = []
  const remember = ({ target }: FocusEvent) => {
    around = []
    for (let node = target as HTMLElement | null; node !== null && root.contains(node); node = node.parentElement) {
      if (node === target || node.tabIndex >= 0 || node.hasAttribute('tabindex')) around.push(node)
    }
  }
  const look = () => {
    const [had] = around
    const isNowhere = document.activeElement === document.body || document.activeElement === null
    if (had === undefined || had.isConnected || !isNowhere) return
    const next = around.find((node) => node.isConnected)
    next?.focus({ preventScroll: true })
  }
  const changes = new MutationObserver(look)
  changes.observe(root, { childList: true, subtree: true })
  root.addEventListener('focusin', remember)
  return () => {
    changes.disconnect()
    root.removeEventListener('focusin', remember)
  }
}
