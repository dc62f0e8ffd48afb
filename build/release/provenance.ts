/**
 * The provenance of a release: an in-toto statement (v1) with a SLSA predicate (v1).
 * @module
 */
import { Buffer } from 'node:buffer'
import type { Pin } from '../image/debian.ts'

/** A file or an image of a release, by its SHA-256 in hexadecimal digits. */
export type Subject = { readonly name: string; readonly sha256: string }

/** Something that a build reads: SLSA's ResourceDescriptor. */
export type Material = {
  readonly uri: string
  readonly digest: Readonly<Record<string, string>>
}

/** A finished build. */
export type Build = {
  readonly version: string
  /** The commit's hash. */
  readonly commit: string
  readonly architectures: readonly string[]
  readonly subjects: readonly Subject[]
  /** Inputs other than the commit. */
  readonly materials: readonly Material[]
  /** Versions of the programs that took part, by name. */
  readonly tools: Readonly<Record<string, string>>
  /** URI of the machine or service that runs the build. */
  readonly builder: string
  readonly startedOn: string
  readonly finishedOn: string
}

/** Returns the statement. Its type and that of the build are URIs, which nobody needs to fetch. */
export function provenanceOf(build: Build): object {
  const { version, commit, architectures, subjects, materials, tools } = build
  const source = { uri: `pkg:npm/kubedoh@${version}#.ci/release`, digest: { gitCommit: commit } }
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'pkg:npm/kubedoh#.ci/release',
        externalParameters: { version, architectures },
        internalParameters: { tools },
        resolvedDependencies: [source, ...materials],
      },
      runDetails: {
        builder: { id: build.builder },
        metadata: { startedOn: build.startedOn, finishedOn: build.finishedOn },
      },
    },
  }
}

/** The part of package-lock.json that pins contents. */
type Lock = {
  readonly packages: Readonly<Record<string, { version?: string; integrity?: string }>>
}

/** Returns the npm packages that package-lock.json pins, by their SHA-512. */
export function lockedMaterials(lock: string): Material[] {
  const { packages }: Lock = JSON.parse(lock)
  return Object.entries(packages).flatMap(([path, { version, integrity = '' }]) => {
    const sum = /^sha512-(\S+)$/.exec(integrity)?.[1]
    if (sum === undefined) return []
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const sha512 = Buffer.from(sum, 'base64').toString('hex')
    return [{ uri: `pkg:npm/${name.replace('@', '%40')}@${version}`, digest: { sha512 } }]
  })
}

/** Returns the Debian packages that an image has for some architectures. */
export function debianMaterials(
  pins: Readonly<Record<string, Pin>>,
  architectures: readonly string[],
): Material[] {
  return architectures.flatMap((architecture) =>
    Object.entries(pins).map(([name, { version, sha256 }]) => ({
      uri: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
      digest: { sha256: sha256[architecture] ?? '' },
    })),
  )
}
