/** The props of every page of the console. */
import type { Who } from '../session.ts'

export interface PageProps {
  who: Who
}
