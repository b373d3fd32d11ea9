import Commands
import Glibc

// Otherwise a file that is opened later could become a standard stream.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 { _ = unsafe open("/dev/null", O_RDWR) }
exit(Fieldfare.run(Array(CommandLine.arguments.dropFirst()), in: Session()))
