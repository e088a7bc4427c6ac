/**
 * Fills a place where there is nothing yet: a picture, a sentence that says what would be here, and one action that
 * begins it.
 */
import type { ComponentChildren } from 'preact'
import { Bird } from './bird.tsx'

interface EmptyProps {
  title: string
  /** The one action, if there is one. */
  action?: ComponentChildren
  children?: ComponentChildren
}

export const Empty = ({ title, action, children }: EmptyProps) => (
  <div class="nothing">
    <span class="art">
      <Bird size={56} />
    </span>
    <h2>{title}</h2>
    {children === undefined ? null : <p>{children}</p>}
    {action}
  </div>
)
