import Commands
import Glibc

exit(Fieldfare.run(Array(CommandLine.arguments.dropFirst()), in: Session()))
