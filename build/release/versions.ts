/**
 * What must hold before a release: every file states one version, the package names its repository,
 * and the commit is the tagged one.
 * @module
 */

/** The files that state the version, and where; the first one decides. */
const PLACES: readonly (readonly [string, RegExp])[] = [
  ['package.json', /^ {2}"version": "(.+)",$/m],
  ['package-lock.json', /^ {2}"version": "(.+)",$/m],
  ['src/dns/telemetry/version.ts', /VERSION = '(.+)'$/m],
  ['deploy/chart/Chart.yaml', /^version: (.+)$/m],
  ['deploy/chart/Chart.yaml', /^appVersion: (.+)$/m],
  ['deploy/crds/Chart.yaml', /^version: (.+)$/m],
  ['deploy/crds/Chart.yaml', /^appVersion: (.+)$/m],
  ['deploy/manifests/kube-system.yaml', /image: "?\S+\/kubedoh:([\w.-]+)"?$/m],
  ['docs/operations.md', /kubedoh-([\w.-]+)-amd64\.tar/],
  ['CHANGELOG.md', /^## (\S+) — /m],
]
/** npm shows both, and follows relative links of the README in the repository. */
const SET_ADDRESSES =
  'run npm pkg set repository.url=git+https://HOST/PATH.git bugs.url=https://HOST/PATH/issues'
const DATE = /^\d{4}-\d\d-\d\d$/

/** Reads a file of the checkout by its path from the root. */
export type ReadText = (path: string) => string

/** The state of the checkout. */
export type Checkout = {
  readonly read: ReadText
  /** Tags of the commit. */
  readonly tags: readonly string[]
  /** Files that differ from the commit. */
  readonly changes: readonly string[]
  /** Changes that the changelog does not have yet. */
  readonly fragments: readonly string[]
}

type Manifest = { readonly [field in 'repository' | 'bugs']?: { readonly url?: string } }

/** Returns the version in package.json. @throws {Error} when it has none */
export function releaseVersion(read: ReadText): string {
  const [[path, pattern] = ['', /./]] = PLACES
  const version = pattern.exec(read(path))?.[1]
  if (version === undefined) throw new Error(`${path} has no version`)
  return version
}

/** Returns a line for each reason why the checkout is not a release. */
export function releaseProblems({ read, tags, changes, fragments }: Checkout): string[] {
  const version = releaseVersion(read)
  const problems = PLACES.flatMap(([path, pattern]) => {
    const found = pattern.exec(read(path))?.[1] ?? 'no version'
    return found === version ? [] : [`${path} has ${found}, package.json ${version}`]
  })
  const date = /^## \S+ — (.*)$/m.exec(read('CHANGELOG.md'))?.[1] ?? ''
  if (!DATE.test(date)) {
    problems.push(`CHANGELOG.md: "${date}" is no date; write "## ${version} — YYYY-MM-DD"`)
  }
  if (fragments.length > 0) {
    const gather = `npm run changie -- batch ${version} && npm run changie -- merge`
    problems.push(`CHANGELOG.md lacks ${fragments.join(', ')}; run ${gather}`)
  }
  const { repository, bugs }: Manifest = JSON.parse(read('package.json'))
  if (repository?.url === undefined || bugs?.url === undefined) {
    problems.push(`package.json has no repository or no bugs; ${SET_ADDRESSES}`)
  }
  if (!tags.includes(`v${version}`)) {
    problems.push(`the commit has no tag v${version}; run git tag -s v${version}`)
  }
  if (changes.length > 0) problems.push(`files differ from the commit: ${changes.join(', ')}`)
  return problems
}

/** Returns the newest section of the changelog, without its heading. */
export function releaseNotes(changelog: string): string {
  const [, section = ''] = changelog.split(/^## .*\n/m)
  return `${section.trim()}\n`
}
