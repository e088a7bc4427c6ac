/** What every page of the console is given. */
import type { Who } from '../session.ts'

export interface PageProps {
  who: Who
}
