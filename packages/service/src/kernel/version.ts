/** The release. The build copies it into the packages' manifests. */
export const version = '0.1.0'

/**
 * The commit that the packages were built from, with `+` where files were changed since; null in a checkout. The build
 * sets it.
 */
export const commit: string | null = null
