import Control
import TakeFiles
import Takes

/// A take's sidecar in a store.
struct RemoteSidecar {
    var path: String
    var content: Sidecar
    /// The hash of its bytes, hexadecimal.
    var sha256: String

    /// Larger than any sidecar. The sidecar of a take that lasts days has some hundred kilobytes.
    fileprivate static let longest = 1 << 24
}

extension RemoteTakes.Take {
    /// Reads the take's sidecar, or returns nil if the take is not complete.
    func readSidecar(_ remote: RemoteTakes) throws(Failure) -> RemoteSidecar? {
        guard let sidecar else { return nil }
        var bytes: [UInt8] = []
        let sha256 = try remote.read(sidecar.path) { piece throws(Failure) in
            guard bytes.count + piece.count <= RemoteSidecar.longest else {
                throw Failure(
                    exitStatus: 65, "remote: \(sidecar.path): is too long for a sidecar: see the store's copy")
            }
            bytes += piece
        }
        do {
            return RemoteSidecar(
                path: sidecar.path, content: try SidecarFile.sidecar(bytes, path: sidecar.path), sha256: sha256)
        } catch {
            throw Failure(exitStatus: 65, "remote: \(error)")
        }
    }
}
