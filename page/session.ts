/**
 * The visitor's token: it comes with the link, or is entered, and stays in this tab.
 * @module
 */

const KEY = 'kubedoh-token'
/** The characters of a Bearer token (RFC 6750 §2.1). */
const TOKEN = /^[\w.~+/-]{1,512}=*$/

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
  if (linked === undefined) return readStored(storage)
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

/** Keeps a token until the tab closes; '' forgets it. */
export function keepToken(storage: Tab['storage'], token: string): void {
  try {
    if (token === '') storage.removeItem(KEY)
    else storage.setItem(KEY, token)
  } catch {
    // A browser may forbid storage: the token then lasts until the page is closed.
  }
}

function readStored(storage: Tab['storage']): string {
  try {
    return storage.getItem(KEY) ?? ''
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
