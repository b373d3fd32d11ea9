// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
/// Beside the C libraries every use of unchecked memory is marked `unsafe`.
let strictMemory = strict + [.strictMemorySafety()]

let package = Package(
    name: "fieldfare",
    products: [
        .library(name: "Takes", targets: ["Takes"])
    ],
    targets: [
        .target(name: "Takes", swiftSettings: strict),
        .target(name: "Transport", dependencies: ["Takes"], swiftSettings: strict),
        .target(name: "Ring", dependencies: ["Takes"], swiftSettings: strictMemory),
        .target(name: "CFloat"),
        .target(name: "Filters", dependencies: ["Takes", "CFloat"], swiftSettings: strictMemory),
        // The benchmark's peer, optimised as a C program would be.
        .target(name: "CReferenceFilter", cSettings: [.unsafeFlags(["-O3"])]),
        .executableTarget(
            name: "filter-bench", dependencies: ["Filters", "Takes", "CReferenceFilter"], swiftSettings: strictMemory),
        // Counts allocations in a test executable.
        .target(name: "CAllocationCount", path: "Tests/CAllocationCount"),
        .testTarget(
            name: "FiltersTests", dependencies: ["Filters", "Takes", "CAllocationCount"], exclude: ["Resources"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
