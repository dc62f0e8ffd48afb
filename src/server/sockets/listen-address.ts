/**
 * Addresses that flags and directives name.
 * @module
 */
import { ListenError } from './sockets.ts'

/** Splits `HOST:PORT` or `:PORT`; no host means all addresses. @throws {ListenError} */
export function parseListenAddress(text: string): {
  readonly host: string | undefined
  readonly port: number
} {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65535) {
    throw new ListenError(`"${text}" is not HOST:PORT`)
  }
  const host = bracketed ?? plain ?? ''
  return { host: host === '' ? undefined : host, port: Number(port) }
}
