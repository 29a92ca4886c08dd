/** Which release this is: the one place that says so. The packages' manifests get it when they are built. */
export const version = '0.1.0'
