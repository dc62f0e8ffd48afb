/**
 * The visitor's token: it comes with the link, from a login, or is entered, and stays in this tab.
 * `sessionStorage` keeps it through a reload, ends with the tab, and no other tab reads it.
 * @module
 */
import { parseJson, recordOf } from '../src/dns/bytes/unknown.ts'
import type { Person } from './login.ts'

const KEY = 'kubedoh-token'
const PERSON_KEY = 'kubedoh-person'
/** The characters of a Bearer token (RFC 6750 §2.1); one of a login has some 500. */
const TOKEN = /^[\w.~+/-]{1,4096}=*$/

/** Where a tab keeps the token, and its address. */
export type Tab = {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly path: string
  /** Replaces the address, so that history and screen do not show the token. */
  readonly replacePath: (path: string) => void
}

/**
 * Returns the token of the link, `/t/TOKEN/`, and removes it from the address; otherwise the one
 * that the tab has. '' for none.
 */
export function takeToken({ storage, path, replacePath }: Tab): string {
  const [, linked] = /^\/t\/([^/]+)\/?$/.exec(path) ?? []
  if (linked === undefined) return readStored(storage, KEY)
  replacePath('/')
  const token = readToken(decode(linked))
  keepToken(storage, token)
  return token
}

/** Returns the token in what somebody pasted, a token or a link with one; '' if there is none. */
export function readToken(pasted: string): string {
  const text = pasted.trim()
  const [, linked = text] = /\/t\/([^/\s]+)/.exec(text) ?? []
  return TOKEN.test(linked) ? linked : ''
}

/**
 * Keeps a token until the tab closes; '' forgets it.
 * @param person whose login gave it, if one did
 */
export function keepToken(storage: Tab['storage'], token: string, person?: Person): void {
  const items = [
    [KEY, token],
    [PERSON_KEY, person === undefined ? '' : JSON.stringify(person)],
  ] as const
  try {
    for (const [key, text] of items) {
      if (text === '') storage.removeItem(key)
      else storage.setItem(key, text)
    }
  } catch {
    // A browser may forbid storage: the token then lasts until the page is closed.
  }
}

/** Returns whose login gave the token that the tab has; `undefined` if none did. */
export function readPerson(storage: Tab['storage']): Person | undefined {
  const { name, issuer, untilMs } = recordOf(parseJson(readStored(storage, PERSON_KEY)))
  const isPerson =
    typeof name === 'string' && typeof issuer === 'string' && typeof untilMs === 'number'
  return isPerson ? { name, issuer, untilMs } : undefined
}

function readStored(storage: Tab['storage'], key: string): string {
  try {
    return storage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
