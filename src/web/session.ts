/** The signed-in user, as the server reports it. */
import { get, send, sessionPath as path } from './api.ts'

export interface Who {
  account: { id: string; name: string; is_admin: boolean; balance_micros: number | null }
  key: { id: string; name: string; prefix: string; scopes: string[] | null }
}

/** @returns null: none @throws ApiError if the server cannot answer */
export const whoIsIn = (): Promise<Who | null> => get<Who | null>(path)

/** The token of a link that signs in, as the first start prints it. It leaves the address at once. */
export function linkInAddress(): string | null {
  const link = /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1] ?? null
  if (link !== null) history.replaceState(null, '', `${location.pathname}#/start`)
  return link
}

/** @throws ApiError with a message for the user */
export const signInBy = (link: string): Promise<Who> => send<Who>('POST', path, { link })

/** @throws ApiError with a message for the user */
export const signIn = (key: string): Promise<Who> => send<Who>('POST', path, { api_key: key.trim() })

export const signOut = (): Promise<void> => send<void>('DELETE', path)

export const allows = ({ key }: Who, scope: string): boolean => key.scopes === null || key.scopes.includes(scope)

/** What requires an unrestricted key of an administrator. */
export const mayAdminister = ({ account, key }: Who): boolean => account.is_admin && key.scopes === null

/** Amounts are of interest to administrators, and to those who pay. */
export const seesMoney = (who: Who): boolean => mayAdminister(who) || who.account.balance_micros !== null
