/**
 * The `kubernetes` directive that says how a cluster is named for others.
 * @module
 */
import { type KubernetesOptions, parseKubernetes } from '../corefile/kubernetes-options.ts'
import { parseCorefile } from '../corefile/parse-corefile.ts'
import { configError } from '../corefile/problem.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import { loadCorefile } from '../node/load-corefile.ts'
import { CommandError } from '../node/output.ts'

/** What holds without a Corefile: kubeadm's, as far as it is about names. */
const DEFAULT_COREFILE = `. {
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 30
  }
}
`

/**
 * Reads the one `kubernetes` directive of a Corefile.
 * @param path '' for the default
 * @throws {CommandError} when there is none or more than one
 */
export function loadExportDirective(path: string): KubernetesOptions {
  const blocks = path === '' ? defaultBlocks() : loadCorefile(path).blocks
  const found = blocks.flatMap((block) =>
    block.directives
      .filter(({ name }) => name === 'kubernetes')
      .map((directive) => ({ directive, block })),
  )
  const [first, second] = found
  if (first === undefined) throw new CommandError(`${path}: there is no "kubernetes" directive`)
  if (second !== undefined) {
    const message = 'a cluster is exported by one "kubernetes" directive, and this is the second'
    throw configError(second.directive, message)
  }
  const zones = first.block.keys.map(({ zone }) => zone)
  return parseKubernetes(first.directive, zones)
}

function defaultBlocks(): readonly ServerBlock[] {
  return parseCorefile(DEFAULT_COREFILE, 'built-in Corefile', {
    readText: () => undefined,
    glob: () => [],
    resolvePath: (_, path) => path,
    environment: () => undefined,
  })
}
