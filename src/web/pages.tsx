/** The pages of the console: one line each. The first four of those that a key may see are on a phone's bottom edge. */
import type { ComponentType } from 'preact'
import { AccountsPage } from './accounts/accounts.tsx'
import { ConnectPage } from './connect/connect.tsx'
import { ModelsPage } from './models/models.tsx'
import { OperationsPage } from './operations/operations.tsx'
import type { IconName } from './parts/icon.tsx'
import type { PageProps } from './parts/page.ts'
import { ServerPage } from './server.tsx'
import { allows, mayAdminister, type Who } from './session.ts'
import { SpeakPage } from './speak/speak.tsx'
import { StartPage } from './start/start.tsx'
import { TranscribePage } from './transcribe/transcribe.tsx'
import { UsagePage } from './usage/usage.tsx'
import { VoicesPage } from './voices/voices.tsx'

export interface Page {
  /** In the address, after `#/`. */
  id: string
  title: string
  icon: IconName
  group: 'Studio' | 'Account' | 'Administration'
  show: ComponentType<PageProps>
  isFor: (who: Who) => boolean
}

const speaks = (who: Who) => allows(who, 'tts')

export const pages: readonly Page[] = [
  { id: 'speak', title: 'Speak', icon: 'speak', group: 'Studio', show: SpeakPage, isFor: speaks },
  {
    id: 'voices',
    title: 'Voices',
    icon: 'voices',
    group: 'Studio',
    show: VoicesPage,
    isFor: (who) => allows(who, 'voices') || speaks(who),
  },
  { id: 'transcribe', title: 'Transcribe', icon: 'transcribe', group: 'Studio', show: TranscribePage, isFor: speaks },
  { id: 'connect', title: 'Connect', icon: 'connect', group: 'Account', show: ConnectPage, isFor: speaks },
  {
    id: 'usage',
    title: 'Usage',
    icon: 'usage',
    group: 'Account',
    show: UsagePage,
    isFor: (who) => allows(who, 'usage'),
  },
  {
    id: 'operations',
    title: 'Operations',
    icon: 'operations',
    group: 'Account',
    show: OperationsPage,
    isFor: (who) => allows(who, 'usage'),
  },
  {
    id: 'start',
    title: 'Get started',
    icon: 'sun',
    group: 'Administration',
    show: StartPage,
    isFor: mayAdminister,
  },
  { id: 'models', title: 'Models', icon: 'models', group: 'Administration', show: ModelsPage, isFor: mayAdminister },
  {
    id: 'accounts',
    title: 'Accounts',
    icon: 'accounts',
    group: 'Administration',
    show: AccountsPage,
    isFor: mayAdminister,
  },
  { id: 'server', title: 'Server', icon: 'server', group: 'Administration', show: ServerPage, isFor: mayAdminister },
]

/** @param hash `#/voices/...` */
export const pageIdOf = (hash: string): string => hash.replace(/^#\/?/, '').split('/')[0] ?? ''
