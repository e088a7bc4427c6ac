/** A text to copy, such as an address, a key or code, under a label. Long lines wrap, so that nothing is cut off. */
import { Copy } from './copy.tsx'

export const Snippet = ({ label, text }: { label: string; text: string }) => (
  <figure class="snippet">
    <figcaption>
      <span class="label">{label}</span>
      <Copy text={text} kind="quiet small" what={label} />
    </figcaption>
    <pre>
      <code>{text}</code>
    </pre>
  </figure>
)
