/**
 * Kubernetes' end-to-end tests by name: which there are, and a run of one on a node.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesNode } from '../real-node/node.ts'

/** Characters of a failed test's output that are shown. */
const OUTPUT_MAX = 6000

/** A test of Kubernetes. */
export type Spec = {
  readonly name: string
  /** Whether it changes what other tests need, and runs alone. */
  readonly isSerial: boolean
}

/** What a report of Ginkgo has, as far as it is read here. */
type Report = {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null
    readonly ContainerHierarchyLabels: readonly (readonly string[] | null)[] | null
    readonly LeafNodeType: string
    readonly LeafNodeText: string
    readonly LeafNodeLabels: readonly string[] | null
    readonly State: string
    readonly Failure?: { readonly Message: string }
  }[]
}

/** The state of a test after its run, and why. */
export type Outcome = { readonly state: string; readonly reason: string }

/** Returns the tests whose names match a pattern of Go, sorted by name. */
export function listSpecs(tests: string, pattern: string): Spec[] {
  const args = ['--ginkgo.dry-run', `--ginkgo.focus=${pattern}`]
  const report = withReport((path) => {
    execFileSync(tests, [...args, `--ginkgo.json-report=${path}`], { stdio: 'pipe' })
  })
  return report.SpecReports.filter(
    ({ LeafNodeType, State }) => LeafNodeType === 'It' && State === 'passed',
  )
    .map((spec) => ({
      name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
      isSerial: [...(spec.ContainerHierarchyLabels ?? []), spec.LeafNodeLabels]
        .flatMap((labels) => labels ?? [])
        .includes('Serial'),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Runs a test as an administrator of the node. @param kubectl path of the program */
export async function runSpec(
  node: KubernetesNode,
  spec: Spec,
  { tests, kubectl }: { readonly tests: string; readonly kubectl: string },
): Promise<Outcome> {
  const focus = spec.name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-e2e-'))
  const path = join(folder, 'report.json')
  const output = await node
    .exec(
      tests,
      `--kubeconfig=${join(node.folder, 'admin.conf')}`,
      `--kubectl-path=${kubectl}`,
      `--ginkgo.focus=${focus}$`,
      `--ginkgo.json-report=${path}`,
      '--ginkgo.no-color',
    )
    .catch((error: Error & { stdout?: string }) => error.stdout ?? error.message)
  const specs = existsSync(path) ? readReport(path).SpecReports : []
  rmSync(folder, { recursive: true })
  return outcomeOf(specs, output.slice(-OUTPUT_MAX))
}

/**
 * Returns the outcome of the only test that ran, or of a part of the suite that failed before
 * it.
 */
function outcomeOf(specs: Report['SpecReports'], output: string): Outcome {
  const ran = specs.filter(({ LeafNodeType, State, Failure }) =>
    // Tests that were not to run are skipped without a message.
    LeafNodeType === 'It' ? State !== 'skipped' || Failure !== undefined : State === 'failed',
  )
  const worst = ran.find(({ State }) => State !== 'passed') ?? ran[0]
  if (worst === undefined) return { state: 'not run', reason: output }
  const { State: state, Failure } = worst
  const detail = state === 'failed' ? `\n${output}` : ''
  return { state, reason: `${Failure?.Message ?? ''}${detail}` }
}

function withReport(write: (path: string) => void): Report {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-e2e-'))
  try {
    const path = join(folder, 'report.json')
    write(path)
    return readReport(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readReport(path: string): Report {
  const [report] = JSON.parse(readFileSync(path, 'utf8'))
  return report
}
