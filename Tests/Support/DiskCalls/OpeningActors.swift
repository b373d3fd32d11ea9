import Glibc
import Workers

/// Opens a file on any of Swift's shared threads, which is a fault. The function is `async` and in this module because
/// a test's own code would be on the stack otherwise.
package actor SharedThreadActor {
    package init() {}

    package func open(_ path: String) async { close(Glibc.open(path, O_RDONLY | O_CLOEXEC)) }
}

/// Opens a file on its own thread.
package actor OwnThreadActor {
    private let executor: ThreadExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init() throws { executor = try ThreadExecutor(name: "opening") }

    package func open(_ path: String) async { close(Glibc.open(path, O_RDONLY | O_CLOEXEC)) }
}
