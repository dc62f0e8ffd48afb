/** What the tests use of oidc-provider, which comes without types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  /** An OpenID provider. */
  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
}
