/** The signed-in user, as the server reports it. */
import { get, send, sessionPath as path } from './api.ts'

export interface Who {
  account: { id: string; name: string; is_admin: boolean; balance_micros: number | null }
  key: { id: string; name: string; prefix: string; scopes: string[] | null }
}

/** @returns null: none @throws ApiError if the server cannot answer */
export const whoIsIn = (): Promise<Who | null> => get<Who | null>(path)

/** @throws ApiError with a message for the user */
export const signIn = (key: string): Promise<Who> => send<Who>('POST', path, { api_key: key })

export const signOut = (): Promise<void> => send<void>('DELETE', path)

export const allows = ({ key }: Who, scope: string): boolean => key.scopes === null || key.scopes.includes(scope)

/** What requires an unrestricted key of an administrator. */
export const mayAdminister = ({ account, key }: Who): boolean => account.is_admin && key.scopes === null
