/// How many connections may still come in. The servers of the console share it.
actor Room {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ places: Int) { free = places }

    /// Takes a place, once there is one.
    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// Gives the place back.
    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
