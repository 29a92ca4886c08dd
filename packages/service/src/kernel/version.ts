/** The release. The build copies it into the packages' manifests. */
export const version = '0.1.0'
