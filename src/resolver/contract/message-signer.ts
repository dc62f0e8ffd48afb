/**
 * Signatures of whole messages (TSIG, RFC 8945).
 * @module
 */

/** Signs the messages of a response, in their order. */
export type MessageSigner = {
  /** Bytes that a signature adds to a message. */
  readonly bytes: number
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** Signs a message if there is a signer. */
export function signed(message: Uint8Array, signer: MessageSigner | undefined): Uint8Array {
  return signer === undefined ? message : signer.sign(message)
}
