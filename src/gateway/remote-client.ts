/**
 * The client of a request over HTTPS.
 * @module
 */
import type { Client, ClientVisibility } from '../chain/client.ts'

/** A peer whose address is formatted on demand. */
export type RemoteAddress = { readonly address: string }

/** A client whose address is formatted only when it is read. */
export class RemoteClient implements Client {
  readonly port = 0
  readonly transport = 'https'
  readonly visibility?: ClientVisibility
  readonly bytesMax?: number
  private readonly remote: RemoteAddress

  /**
   * @param visibility what the client may see; everything when left out
   * @param bytesMax largest response that the client takes; any when left out
   */
  constructor(remote: RemoteAddress, visibility?: ClientVisibility, bytesMax?: number) {
    this.remote = remote
    if (visibility !== undefined) this.visibility = visibility
    if (bytesMax !== undefined) this.bytesMax = bytesMax
  }

  /** The address as text, without a port. */
  get address(): string {
    return this.remote.address
  }
}
