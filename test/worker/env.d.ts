/** Types `env` of `cloudflare:workers` for the tests that run inside workerd. */
declare namespace Cloudflare {
  interface Env extends Readonly<import('../../worker/env.ts').Env> {}
}
