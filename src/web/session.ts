/** Who is signed in, as the server says. */
import { get, send, sessionPath as path } from './api.ts'

export interface Who {
  account: { id: string; name: string; is_admin: boolean; balance_micros: number | null }
  key: { id: string; name: string; prefix: string; scopes: string[] | null }
}

/** @returns null: nobody is @throws ApiError when the server cannot tell */
export const whoIsIn = (): Promise<Who | null> => get<Who | null>(path)

/** @throws ApiError in words for whoever typed the key */
export const signIn = (key: string): Promise<Who> => send<Who>('POST', path, { api_key: key })

export const signOut = (): Promise<void> => send<void>('DELETE', path)

export const allows = ({ key }: Who, scope: string): boolean => key.scopes === null || key.scopes.includes(scope)

/** What only an administrator with an unrestricted key may do. */
export const mayAdminister = ({ account, key }: Who): boolean => account.is_admin && key.scopes === null
