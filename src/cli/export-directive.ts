/**
 * The `kubernetes` directive with which `kubedoh export` names a cluster.
 * @module
 */
import { type KubernetesOptions, parseKubernetes } from '../corefile/kubernetes-options.ts'
import { parseCorefile } from '../corefile/parse-corefile.ts'
import { configError } from '../corefile/problem.ts'
import { NO_FILES } from '../gateway/config.ts'
import { loadCorefile } from '../node/load-corefile.ts'
import { CommandError } from '../node/output.ts'

const BUILT_IN = 'built-in Corefile'
/** Used without a Corefile: the naming options of kubeadm's Corefile. */
const DEFAULT_COREFILE = `. {
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 30
  }
}
`

/**
 * Reads the only `kubernetes` directive of a Corefile.
 * @param path '' for the default
 * @throws {CommandError} when there is no such directive
 * @throws {ConfigError} when there is more than one
 */
export function loadExportDirective(path: string): KubernetesOptions {
  const blocks =
    path === '' ? parseCorefile(DEFAULT_COREFILE, BUILT_IN, NO_FILES) : loadCorefile(path).blocks
  const found = blocks.flatMap((block) =>
    block.directives
      .filter(({ name }) => name === 'kubernetes')
      .map((directive) => ({ directive, block })),
  )
  const [first, second] = found
  if (first === undefined) throw new CommandError(`${path}: no "kubernetes" directive to export`)
  if (second !== undefined) {
    const message = 'export takes one "kubernetes" directive, and this is the second; remove one'
    throw configError(second.directive, message)
  }
  const zones = first.block.keys.map(({ zone }) => zone)
  return parseKubernetes(first.directive, zones)
}
