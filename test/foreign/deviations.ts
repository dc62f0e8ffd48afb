/**
 * Inputs of CoreDNS's setup tests that we judge otherwise, and why. The suite fails for a
 * difference that is not here, and for an entry that has become needless.
 * @module
 */
import type { SetupCase } from './coredns-module.ts'

/** A group of inputs. */
export type Deviation = {
  readonly plugin: string
  /** What the inputs have in common. */
  readonly input: RegExp
  readonly reason: string
}

/** All of them. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    plugin: 'auto',
    input: /directory \/tmp \(\.\*\) bliep 10|no_reload/,
    reason: 'options of CoreDNS before 1.8 are translated with a warning',
  },
  {
    plugin: 'erratic',
    input: /^erraric/,
    reason: 'a spelling mistake in the test: the plugin never sees its input',
  },
  {
    plugin: 'grpc',
    input: /unix:\/\//,
    reason: 'upstreams at sockets of the machine are not supported (docs/plugins/grpc.md)',
  },
  {
    plugin: 'health',
    input: /bla:a/,
    reason: 'CoreDNS finds the wrong port when it listens, we when we read it',
  },
  {
    plugin: 'trace',
    input: /^trace datadog/,
    reason: "Datadog's own protocol is not supported; its agent takes OTLP",
  },
]

/** Finds why an input is judged otherwise. */
export function deviationOf({
  plugin,
  input,
}: Pick<SetupCase, 'plugin' | 'input'>): Deviation | undefined {
  return DEVIATIONS.find((one) => one.plugin === plugin && one.input.test(input))
}
