internal import CLinux
import Glibc
import Ring

/// Runs an archivist on a thread of its own, which gets the processor and the disk when nobody else wants them.
final class ArchivistThread {
    private let archivist: Archivist
    private let thread: Thread

    init(_ archivist: Archivist) throws(ThreadError) {
        self.archivist = archivist
        thread = try Thread(name: "archivist") {
            // Not granted, it works all the same, only less modestly.
            fieldfare_be_idle()
            while !archivist.hasQuit {
                if !archivist.turn(), !archivist.hasQuit { archivist.orders.wait(nanoseconds: nil) }
            }
        }
    }

    deinit {
        archivist.orders.post(.quit)
        thread.join()
    }
}
