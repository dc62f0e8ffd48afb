/**
 * Writes an OCI image layout (image-spec 1.1) as one tar archive, which `ctr images import`,
 * `podman load`, `skopeo` and, by its `manifest.json`, every `docker load` accept.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type TarEntry, tarOf } from './tar.ts'

const MEDIA = 'application/vnd.oci.image'
/** Bytes of a compressed layer that gzip may print. */
const LAYER_MAX = 512 * 1024 * 1024

/** The image for one architecture. */
export type Platform = {
  /** `amd64` or `arm64`. */
  readonly architecture: string
  /** Files of each layer, the lowest first. */
  readonly layers: readonly (readonly TarEntry[])[]
}

/** What all platforms of an image share. */
export type ImageConfig = {
  /** Reference with a tag, such as `localhost/kubedoh:0.1.0`. */
  readonly name: string
  /** Seconds since 1970 that the image states as its creation. */
  readonly created: number
  /** `config` of the image specification: Entrypoint, User, Env, Labels. */
  readonly config: Readonly<Record<string, unknown>>
}

/** An archive, the digest by which registries know the image, and its compressed size in bytes. */
export type Image = { readonly archive: Buffer; readonly digest: string; readonly size: number }

type Descriptor = { readonly mediaType: string; readonly digest: string; readonly size: number }

/**
 * Packs an image. The digest is that of the manifest, or with several platforms that of the index;
 * the size is the sum of all layers.
 * @throws {Error} when gzip fails
 */
export function packImage(platforms: readonly Platform[], image: ImageConfig): Image {
  const blobs = new Map<string, Buffer>()
  const add = (mediaType: string, content: Buffer): Descriptor => {
    const digest = digestOf(content)
    blobs.set(digest, content)
    return { mediaType: `${MEDIA}.${mediaType}`, digest, size: content.length }
  }
  const built = platforms.map(({ architecture, layers }) => {
    const tars = layers.map(tarOf)
    const packed = tars.map((tar) => add('layer.v1.tar+gzip', gzip(tar)))
    const config = add('config.v1+json', configOf(architecture, tars.map(digestOf), image))
    const manifest = { schemaVersion: 2, mediaType: `${MEDIA}.manifest.v1+json` }
    const descriptor = add('manifest.v1+json', json({ ...manifest, config, layers: packed }))
    return { config, packed, listed: { ...descriptor, platform: { architecture, os: 'linux' } } }
  })
  const [first] = built
  if (first === undefined) throw new Error('an image needs a platform')
  const index = { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json` }
  const listed = built.map((one) => one.listed)
  const top =
    listed.length === 1 ? first.listed : add('index.v1+json', json({ ...index, manifests: listed }))
  const names = {
    'io.containerd.image.name': image.name,
    'org.opencontainers.image.ref.name': image.name,
  }
  const docker = {
    Config: blobPath(first.config.digest),
    RepoTags: [image.name],
    Layers: first.packed.map(({ digest }) => blobPath(digest)),
  }
  const files = new Map([
    ['oci-layout', json({ imageLayoutVersion: '1.0.0' })],
    ['index.json', json({ ...index, manifests: [{ ...top, annotations: names }] })],
    ['manifest.json', json([docker])],
    ...[...blobs].map(([digest, content]) => [blobPath(digest), content] as const),
  ])
  const entries = [...files].map(([path, content]) => ({ path, mode: 0o644, content }))
  const size = built.flatMap(({ packed }) => packed).reduce((sum, one) => sum + one.size, 0)
  return { archive: tarOf(entries), digest: top.digest, size }
}

function configOf(architecture: string, layers: readonly string[], image: ImageConfig): Buffer {
  const created = new Date(image.created * 1000).toISOString().replace('.000', '')
  return json({
    created,
    architecture,
    os: 'linux',
    config: image.config,
    rootfs: { type: 'layers', diff_ids: layers },
    history: layers.map(() => ({ created, created_by: 'npm run image' })),
  })
}

/** Compresses by GNU gzip: the deflate of Node gives other bytes on other processors. */
export function gzip(content: Buffer): Buffer {
  const { status, stdout, stderr } = spawnSync('gzip', ['-n', '-6'], {
    input: content,
    maxBuffer: LAYER_MAX,
  })
  if (status !== 0) throw new Error(`gzip failed: ${String(stderr)}`)
  return stdout
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`
}

function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
