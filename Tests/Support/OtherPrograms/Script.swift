import Foundation

/// A short shell program that replaces a third-party program.
package enum Script {
    /// Writes an executable shell program.
    ///
    /// Another process writes the file. If this process wrote it, a program that another thread starts would keep the
    /// file open for a moment. Linux does not execute a file that is open for writing (`ETXTBSY`).
    /// - Throws: an error of Foundation, or `POSIXError` if the file cannot be written.
    package static func write(_ lines: String, to path: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", #"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""#, path, lines]
        try shell.run()
        shell.waitUntilExit()
        guard shell.terminationStatus == 0 else { throw POSIXError(.EIO) }
    }
}
