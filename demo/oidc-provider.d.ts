/** What the demo and the tests use of oidc-provider, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  /** An OpenID provider. */
  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{ readonly prompt: { readonly name: string } }>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
    readonly Grant: new (fields: {
      readonly clientId: string
      readonly accountId: string
    }) => Grant
  }

  /** What a person allows a client. */
  export type Grant = {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  /** A request, as functions of the configuration get it. */
  export type Context = {
    readonly oidc: {
      readonly provider: Provider
      readonly client: { readonly clientId: string }
      readonly session: { readonly accountId: string }
      readonly result?: { readonly login?: object }
    }
  }

  /** What a person is asked. */
  export const interactionPolicy: {
    readonly base: () => {
      get(prompt: string): { readonly checks: { add(check: object): void } }
    }
    readonly Check: {
      new (reason: string, description: string, check: (context: Context) => boolean): object
      readonly REQUEST_PROMPT: boolean
      readonly NO_NEED_TO_PROMPT: boolean
    }
  }
}
