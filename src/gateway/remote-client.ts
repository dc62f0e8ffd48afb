/**
 * Who sends a request over HTTPS.
 * @module
 */
import type { Client, ClientVisibility } from '../chain/client.ts'

/** Whose address is known when it is asked for. */
export type RemoteAddress = { readonly address: string }

/** A client whose address is only put in words when somebody wants to read it. */
export class RemoteClient implements Client {
  readonly port = 0
  readonly transport = 'https'
  readonly visibility?: ClientVisibility
  readonly bytesMax?: number
  private readonly remote: RemoteAddress

  /**
   * @param view what it may see; everything when left out
   * @param bytesMax size of the largest response that it takes; any when left out
   */
  constructor(remote: RemoteAddress, view?: ClientVisibility, bytesMax?: number) {
    this.remote = remote
    if (view !== undefined) this.visibility = view
    if (bytesMax !== undefined) this.bytesMax = bytesMax
  }

  /** As text, without a port. */
  get address(): string {
    return this.remote.address
  }
}
