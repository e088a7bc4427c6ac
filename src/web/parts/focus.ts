/**
 * Where the focus goes when what had it is taken away (a button that did its work, a card that was deleted): to the
 * nearest thing around it that is still there. Browsers leave it nowhere, and a screen reader at the top of the page.
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
