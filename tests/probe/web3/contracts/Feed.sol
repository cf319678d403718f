// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A price feed of Chainlink's shape.
contract Feed {
    uint8 public decimals;
    uint80 private round;
    uint80 private answered;
    int256 private answer;
    uint256 private at;

    constructor(uint8 digits, int256 first) {
        decimals = digits;
        (round, answered, answer, at) = (1, 1, first, block.timestamp);
    }

    function set(int256 value) external {
        round += 1;
        (answered, answer, at) = (round, value, block.timestamp);
    }

    /// A round that has begun, and carries the answer of the one before.
    function begin() external {
        round += 1;
    }

    function age(uint256 by) external {
        at = block.timestamp - by;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (round, answer, at, at, answered);
    }
}
