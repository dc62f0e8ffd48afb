/**
 * Who sends a request over HTTPS.
 * @module
 */
import type { Client, View } from '../chain/plugin.ts'

/** Whose address is known when it is asked for. */
export type RemoteAddress = { readonly address: string }

/** A client whose address is only put in words when somebody wants to read it. */
export class RemoteClient implements Client {
  readonly port = 0
  readonly transport = 'https'
  readonly view?: View
  readonly bytesMax?: number
  private readonly remote: RemoteAddress

  /**
   * @param view what it may see; everything when left out
   * @param bytesMax size of the largest response that it takes; any when left out
   */
  constructor(remote: RemoteAddress, view?: View, bytesMax?: number) {
    this.remote = remote
    if (view !== undefined) this.view = view
    if (bytesMax !== undefined) this.bytesMax = bytesMax
  }

  /** As text, without a port. */
  get address(): string {
    return this.remote.address
  }
}
